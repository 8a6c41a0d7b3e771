% rebase("layout.tpl", title=title, live=False)
<h1>{{title}}</h1>
<ul class="names">
% for name in names:
<li>{{name}}</li>
% end
</ul>
<form method="post" action="{{url('/admin/features/bulk')}}" class="actions">
% include("partials/csrf.tpl")
<input type="hidden" name="confirmed" value="on">
<input type="hidden" name="change" value="{{change}}">
<input type="hidden" name="back" value="{{back}}">
% for name in names:
<input type="hidden" name="flag.{{name}}" value="on">
% end
<button>{{button}}</button>
<a href="{{url(cancel_path)}}">Cancel</a>
</form>
