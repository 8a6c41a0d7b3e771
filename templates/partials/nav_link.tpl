% if identity.has_permission(permission):
<li><a href="{{url(path)}}"\\
% if is_current(path):
 aria-current="page"\\
% end
>{{label}}</a></li>
% end
