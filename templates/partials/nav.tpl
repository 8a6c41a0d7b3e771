<nav aria-label="Main">
<ul>
% pages = (
%     ("/", "Home", "VIEW"),
%     ("/admin/features", "Flags", "VIEW"),
%     ("/admin/segments", "Segments", "VIEW"),
%     ("/admin/projects", "Projects", "VIEW"),
%     ("/admin/environments", "Environments", "VIEW"),
%     ("/admin/context", "Context", "VIEW"),
%     ("/admin/playground", "Playground", "VIEW"),
%     ("/admin/applications", "Applications", "VIEW"),
%     ("/admin/signals", "Signals", "ADMIN"),
%     ("/admin/actions", "Actions", "ADMIN"),
%     ("/admin/events", "Events", "ADMIN"),
%     ("/admin/api-tokens", "API tokens", "ADMIN"),
%     ("/admin/users", "Users", "ADMIN"),
% )
% for path, label, permission in pages:
% if identity.may(permission):
<li><a href="{{url(path)}}"\\
% if is_current(path):
 aria-current="page"\\
% end
>{{label}}</a></li>
% end
% end
</ul>
</nav>
<div class="account">
<a href="{{url('/profile')}}">{{identity.username}}</a>
<form method="post" action="{{url('/logout')}}">
% include("partials/csrf.tpl")
<button class="quiet">Sign out</button>
</form>
</div>
