% rebase("layout.tpl", title=title, live=False)
% name = feature["name"]
<h1>Archive {{name}}?</h1>
% include("partials/problems.tpl")
<p>Applications don't get it any more, and answer “off”, wherever they still ask. Its strategies and tags stay; it can be revived, switched off.</p>
% if on:
<p>It is on in {{", ".join(on)}} now.</p>
% end
% if feature["children"]:
<p>These flags depend on it and must be freed first:</p>
<ul>
% for child in feature["children"]:
<li><a href="{{url(flag_path(child))}}">{{child}}</a></li>
% end
</ul>
% end
<form method="post" action="{{url('/admin/features/%s/archive' % name)}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Archive flag</button>
<a href="{{url(path)}}">Cancel</a>
</form>
