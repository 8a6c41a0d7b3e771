% if chips:
<p class="chips">
% for chip in chips:
<a class="chip" href="?{{chip['link']}}"><span class="hidden">Remove filter </span><bdi>{{chip["text"]}}</bdi> <span aria-hidden="true">×</span></a>
% end
<a href="?">Clear filters</a>
</p>
% end
