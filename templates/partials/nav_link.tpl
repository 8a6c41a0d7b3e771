<li><a href="{{url(item.path)}}"\\
% if item.is_current:
 aria-current="page"\\
% end
>{{item.label}}\\
% for text, words in item.badges:
 <span class="count" title="{{words}}">{{text}}<span class="hidden"> {{words}}</span></span>\\
% end
</a></li>
