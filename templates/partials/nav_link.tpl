<li><a href="{{url(item.path)}}"\\
% if item.is_current:
 aria-current="page"\\
% end
>{{item.label}}</a></li>
