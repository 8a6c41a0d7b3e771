% rebase("layout.tpl", title=title, live=False)
<h1>Archive {{name}}?</h1>
% include("partials/problems.tpl")
% if children:
<p>Can't archive: these flags depend on it. Remove their parent flag first:</p>
<ul>
% for child in children:
<li><a href="{{url(flag_path(child))}}">{{child}}</a></li>
% end
</ul>
<p><a href="{{url(flag_path(name))}}">Back to {{name}}</a></p>
% else:
<p>SDKs will evaluate it as disabled. You can revive it later; it comes back disabled everywhere.</p>
% if enabled_in:
<p>Currently enabled in: {{enabled_in}}</p>
% end
<form method="post" action="{{url('/admin/features', name, 'archive')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Archive flag</button>
<a href="{{url(flag_path(name))}}">Cancel</a>
</form>
% end
