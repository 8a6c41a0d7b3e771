% if not authentication.is_open:
<div class="account">
<a href="{{url('/profile')}}">{{identity.username}}</a>
% if identity.session_hash:
<form method="post" action="{{url('/logout')}}">
% include("partials/csrf.tpl")
<button class="quiet">Sign out</button>
</form>
% end
</div>
% end
<nav aria-label="Main">
<ul>
% for path, label, permission in (
%     ("/", "Home", "VIEW"),
%     ("/admin/features", "Flags", "VIEW"),
%     ("/admin/segments", "Segments", "VIEW"),
%     ("/admin/playground", "Playground", "VIEW"),
%     ("/admin/applications", "Applications", "VIEW"),
%     ("/admin/signals", "Signals", "ADMIN"),
%     ("/admin/actions", "Actions", "ADMIN"),
%     ("/admin/events", "Events", "ADMIN"),
% ):
% include("partials/nav_link.tpl", path=path, label=label, permission=permission)
% end
% configure = (
%     ("/admin/integrations", "Integrations", "ADMIN"),
%     ("/admin/projects", "Projects", "VIEW"),
%     ("/admin/environments", "Environments", "VIEW"),
%     ("/admin/context", "Context", "VIEW"),
%     ("/admin/api-tokens", "API tokens", "ADMIN"),
%     ("/admin/users", "Users", "ADMIN"),
% )
<li>
<details>
<summary {{"class=current" if any(is_current(path) for path, _, _ in configure) else ""}}>Configure</summary>
<ul>
% for path, label, permission in configure:
% include("partials/nav_link.tpl", path=path, label=label, permission=permission)
% end
</ul>
</details>
</li>
</ul>
</nav>
