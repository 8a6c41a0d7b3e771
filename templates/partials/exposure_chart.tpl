<figure class="chart">
<div class="axis" aria-hidden="true"><span>{{number(chart["busiest"])}}</span><span>0</span><span>{{number(chart["busiest"])}}</span></div>
<svg viewBox="0 0 240 48" preserveAspectRatio="none" role="img" aria-label="{{chart['label']}}">
% for bar in chart["bars"]:
<rect class="{{bar['kind']}}" x="{{bar['x']}}" y="{{bar['y']}}" width="{{bar['width']}}" height="{{bar['height']}}"></rect>
% end
<line x1="0" y1="24" x2="240" y2="24"></line>
</svg>
<div class="axis" aria-hidden="true"><span>{{chart["start"]}} ago</span><span>now</span></div>
</figure>
