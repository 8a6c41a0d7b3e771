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
% for item in menu.main:
% include("partials/nav_link.tpl", item=item)
% end
<li>
<details>
<summary {{"class=current" if menu.is_in_settings else ""}}>Configure</summary>
<ul>
% for item in menu.settings:
% include("partials/nav_link.tpl", item=item)
% end
</ul>
</details>
</li>
</ul>
</nav>
