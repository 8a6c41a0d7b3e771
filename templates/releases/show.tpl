% rebase("layout.tpl", title=title, live=is_live)
<div id="release" data-live>
% include("releases/heading.tpl")
% include("releases/panel.tpl", release=release)
<dl>
<div><dt>Strategy</dt><dd><bdi>{{strategy}}</bdi></dd></div>
% if ends_at:
<div><dt>Ends at the earliest</dt><dd>
% include("partials/time.tpl", at=ends_at)
</dd></div>
% end
<div><dt>Hold without data</dt><dd>after {{release["noDataMinutes"]}} min</dd></div>
</dl>
% if chart:
<section>
<h2>Percentage</h2>
<div class="chart release-chart">
<div class="axis" aria-hidden="true"><span>100%</span><span>0%</span></div>
<svg viewBox="0 -14 640 116" preserveAspectRatio="none" role="img" aria-label="{{chart["label"]}}">
<line x1="0" y1="100" x2="640" y2="100"></line>
<path d="{{chart["path"]}}"></path>
% for mark in chart["marks"]:
<line class="mark" x1="{{mark["x"]}}" y1="-14" x2="{{mark["x"]}}" y2="100"><title>{{mark["icon"]}} {{mark["text"]}}</title></line>
% end
</svg>
<div class="axis" aria-hidden="true">
% include("partials/time.tpl", at=chart["start"], time_form="clock")
% include("partials/time.tpl", at=chart["stop"], time_form="clock")
</div>
</div>
</section>
% end
</div>
