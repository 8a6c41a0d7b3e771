<svg class="line" viewBox="0 0 {{chart.width}} {{chart.height}}" width="{{chart.width}}" height="{{chart.height}}" role="img" aria-label="{{chart.label}}">
% for band in chart.bands:
<rect x="{{band['x']}}" y="0" width="{{band['width']}}" height="{{chart.height}}"></rect>
% end
<line x1="0" y1="{{chart.limit_y}}" x2="{{chart.width}}" y2="{{chart.limit_y}}"></line>
% for points in chart.segments:
<polyline points="{{points}}"></polyline>
% end
</svg>
