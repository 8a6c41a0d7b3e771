<svg class="sparkline" viewBox="0 0 144 24" width="144" height="24" role="img" aria-label="{{label}}">
<line x1="0" y1="23.5" x2="144" y2="23.5"></line>
% for bar in chart["bars"]:
% if bar["is_broken"]:
<rect class="band" x="{{bar["x"]}}" y="0" width="6" height="24"></rect>
% end
<rect x="{{bar["x"]}}" y="{{bar["y"]}}" width="5" height="{{bar["height"]}}" {{"class=broken" if bar["is_broken"] else ""}}></rect>
% end
% if chart["limit_y"] is not None:
<line class="limit" x1="0" y1="{{chart["limit_y"]}}" x2="144" y2="{{chart["limit_y"]}}"></line>
% end
</svg>
