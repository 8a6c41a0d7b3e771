% rebase("layout.tpl", title=title, live=False)
<h1>Delete the context field {{field["name"]}}?</h1>
% include("partials/problems.tpl")
% if field["built_in"]:
<p>Built-in context fields can't be deleted.</p>
% else:
% if flags:
<p>{{plural(len(flags), "flag")}} still {{"uses" if len(flags) == 1 else "use"}} it; {{"its" if len(flags) == 1 else "their"}} constraints keep working:</p>
<ul class="names">
% for flag in flags:
<li><bdi>{{flag}}</bdi></li>
% end
</ul>
% else:
<p>No strategy uses it.</p>
% end
<form method="post" action="{{url('/admin/context', field['name'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete context field</button>
<a href="{{url('/admin/context')}}">Cancel</a>
</form>
% end
