<svg class="sparkline" viewBox="0 0 144 24" width="144" height="24" role="img" aria-label="{{label}}">
<line x1="0" y1="23.5" x2="144" y2="23.5"></line>
% for bar in bars:
<rect x="{{bar['x']}}" y="{{bar['y']}}" width="5" height="{{bar['height']}}"></rect>
% end
% for x in marks:
<path d="M{{x}} 0h5l-2.5 4z"></path>
% end
</svg>
