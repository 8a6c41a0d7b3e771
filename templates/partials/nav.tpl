<details class="panel">
<summary><span aria-hidden="true">☰</span> Menu</summary>
<a class="search" href="{{url('/admin/search')}}" data-palette>\\
% include("partials/icon.tpl", name="search")
<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd></a>
<nav aria-label="Main">
% include("partials/places.tpl", places=frame.menu)
</nav>
% if not authentication.is_open:
<div class="account">
<a href="{{url('/profile')}}" title="{{identity.username}}"><bdi>{{identity.name or identity.username}}</bdi>{{" · " + identity.role if identity.role else ""}}</a>
% if identity.session_hash:
<button class="quiet" form="sign-out">Sign out</button>
% end
</div>
% end
</details>
<span class="where" aria-hidden="true">{{title}}</span>
