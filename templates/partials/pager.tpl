% if older or not at_newest:
<nav class="pager" aria-label="Pages">
% if not at_newest:
<a href="?{{newest}}">← Newest</a>
% end
% if older:
<a href="?{{older}}" rel="next">Older →</a>
% end
</nav>
% end
