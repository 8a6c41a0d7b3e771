% if chips:
<p class="tags">
% for chip in chips:
<a href="?{{chip['link']}}"><span class="hidden">Remove filter </span><bdi>{{chip["text"]}}</bdi> <span aria-hidden="true">✕</span></a> ·
% end
<a href="?">Clear</a>
</p>
% end
