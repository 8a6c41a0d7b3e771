<svg class="chart" viewBox="0 0 240 48" role="img" aria-label="{{chart['label']}}">
% for bar in chart["bars"]:
<rect class="{{bar['kind']}}" x="{{bar['x']}}" y="{{bar['y']}}" width="8" height="{{bar['height']}}"></rect>
% end
<line x1="0" y1="24" x2="240" y2="24"></line>
</svg>
