% rebase("layout.tpl", title=title, live=False)
<h1>Emergency</h1>
<p id="done">{{sentence}}</p>
% for change in failures:
<p class="problem"><span aria-hidden="true">✕</span> <bdi>{{change["feature"]}}</bdi> in <bdi>{{change["environment"]}}</bdi>: <bdi>{{change["reason"]}}</bdi></p>
% end
% include("releases/emergency_changes.tpl", changes=changes)
<p><a href="{{url('/')}}">Home</a> · <a href="{{url('/admin/releases')}}">Releases</a></p>
