<ul>
% for place in places:
<li><a href="{{url(place.path)}}" {{"aria-current=page" if place.is_current else ""}}>{{place.label}}\\
% if place.number:
 <span class="{{place.style or "muted"}}" title="{{place.number_text}}">{{place.number}}<span class="hidden"> {{place.number_text}}</span></span>\\
% end
</a></li>
% end
</ul>
