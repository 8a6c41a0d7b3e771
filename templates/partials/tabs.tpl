<nav class="tabs" aria-label="{{name}}">
<ul>
% for tab in tabs:
<li><a href="{{url(tab.path)}}"\\
% if tab.is_current:
 aria-current="page"\\
% end
>{{tab.label}}\\
% if tab.number:
 {{number(tab.number)}}\\
% end
</a></li>
% end
</ul>
</nav>
