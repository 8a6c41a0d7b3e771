% rebase("layout.tpl", title=title, live=False)
<h1>Delete the context field {{field["name"]}}?</h1>
% include("partials/problems.tpl")
% if field["built_in"]:
<p>This field is built in and stays.</p>
% else:
% if flags:
<p>Strategies of {{plural(len(flags), "flag")}} ask for it and go on asking:</p>
<ul class="names">
% for flag in flags:
<li><bdi>{{flag}}</bdi></li>
% end
</ul>
% else:
<p>No strategy asks for it.</p>
% end
<form method="post" action="{{url('/admin/context/%s/delete' % field['name'])}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete context field</button>
<a href="{{url('/admin/context')}}">Cancel</a>
</form>
% end
