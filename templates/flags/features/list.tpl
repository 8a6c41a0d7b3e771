% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>{{title}}</h1>
% if can_edit:
<a class="button" href="{{url('/admin/features/new')}}">New flag</a>
% end
</div>
% if is_empty:
<section class="empty">
<h2>No feature flags yet</h2>
<p>Turn features on or off at runtime – per environment, user or percentage – without deploying.</p>
% if can_edit:
<p><a class="button" href="{{url('/admin/features/new')}}">Create flag</a></p>
% else:
<p>Ask an editor to create one.</p>
% end
</section>
% else:
<form method="get" class="inline filter" role="search">
% for field in fields:
% include("partials/filter_field.tpl", field=field)
% end
% for name, value in sorting.items():
<input type="hidden" name="{{name}}" value="{{value}}">
% end
<button class="quiet">Filter</button>
</form>
% end
% include("partials/chips.tpl")
% include("partials/problems.tpl")
% if not features and not is_empty:
<p class="empty">No flags match your filters.</p>
% end
% if features:
% if can_edit:
<form method="post" action="{{url('/admin/features')}}" data-swap="flag-table">
% include("partials/csrf.tpl")
<input type="hidden" name="back" value="{{here}}">
% end
<div class="bulk">
<p class="hint">{{count}}</p>
% if can_edit:
<details {{"open" if problems else ""}}>
<summary>Change selected flags</summary>
<div class="inline">
% for field in changes:
% include("partials/filter_field.tpl", field=field)
% end
<label class="check needs-script"><input type="checkbox" data-select-all> Select all</label>
<button class="quiet" data-swap="">Apply</button>
</div>
</details>
% end
</div>
<table class="flags" id="flag-table">
<thead>
<tr>
% for head in heads:
<th scope="col" class="{{head['class']}}" {{"aria-sort=" + head["order"] if head["order"] else ""}}><a href="?{{head['link']}}" aria-label="Sort by {{head['label']}}">{{head["label"]}}</a></th>
% end
</tr>
</thead>
<tbody>
% for feature in features:
% include("flags/features/row.tpl", feature=feature)
% end
</tbody>
</table>
% if can_edit:
</form>
% end
% end
<p><a href="{{url('/admin/features')}}{{"" if is_archive else "?life=archived"}}">{{"Active flags" if is_archive else "Archived flags"}}</a></p>
% if previous or next:
<nav class="pager" aria-label="Pages">
% if previous:
<a href="?{{previous}}" rel="prev">← Previous</a>
% end
% if next:
<a href="?{{next}}" rel="next">Next →</a>
% end
</nav>
% end
