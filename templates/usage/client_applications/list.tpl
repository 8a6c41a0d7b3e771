% rebase("layout.tpl", title=title, live=False)
<h1>Applications</h1>
<p class="hint">{{plural(total, "application")}}{{" found" if search.value else ""}}. Applications appear when their SDK connects. Instances expire after 2 days.</p>
<form method="get" class="inline">
% include("partials/filter_field.tpl", field=search)
<button class="quiet">Search</button>
</form>
% include("partials/table.tpl")
% if next_query or first_query is not None:
<nav class="pager" aria-label="Pages">
% if first_query is not None:
<a href="?{{first_query}}">First</a>
% end
% if next_query:
<a href="?{{next_query}}" rel="next">Next</a>
% end
</nav>
% end
