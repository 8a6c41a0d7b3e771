<a class="search" href="{{url('/admin/search')}}" data-palette>\\
% include("partials/icon.tpl", name="search")
<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd></a>
<nav aria-label="Main">
<ul>
% for section in menu:
<li {{"class=current" if section.is_current else ""}}>
<a class="section" href="{{url(section.items[0].path)}}" {{"aria-current=page" if section.is_current and len(section.items) == 1 else ""}}>\\
% include("partials/icon.tpl", name=section.icon)
<span>{{section.label}}</span></a>
% for label, items in () if len(section.items) == 1 else section.groups.items():
% if label:
<p class="group">{{label}}</p>
% end
<ul>
% for item in items:
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
