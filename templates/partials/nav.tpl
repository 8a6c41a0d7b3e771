<a class="search" href="{{url('/admin/search')}}" data-palette>\\
% include("partials/icon.tpl", name="search")
<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd></a>
<nav aria-label="Main">
<ul>
% for section in menu:
<li {{"class=current" if section.is_current else ""}}>
<a class="section" href="{{url(section.path)}}" {{"aria-current=page" if section.is_current and section.is_single else ""}}>\\
% include("partials/icon.tpl", name=section.icon)
<span>{{section.label}}</span></a>
% for group in () if section.is_single else section.groups:
% if group.label:
<p class="group">{{group.label}}</p>
% end
<ul>
% for item in group.items:
% include("partials/nav_link.tpl", item=item)
% end
</ul>
% end
</li>
% end
</ul>
</nav>
% if not authentication.is_open:
<div class="account">
<a href="{{url('/profile')}}">{{identity.username}}</a>
% if identity.session_hash:
<button class="quiet" form="sign-out">Sign out</button>
% end
</div>
% end
