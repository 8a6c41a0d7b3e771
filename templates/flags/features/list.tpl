% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>{{title}}</h1>
% if can_edit and not is_empty:
<a class="button" href="{{url('/admin/features/new')}}">New flag</a>
% end
</div>
% include("partials/problems.tpl")
% if is_empty:
<section class="empty">
<p>No flags yet. A flag is a name that your application asks about while it runs.</p>
% if can_edit:
<p><a class="button" href="{{url('/admin/features/new')}}">New flag</a></p>
% end
</section>
% else:
<div class="filters">
<strong>{{count}}</strong>
<form method="get" role="search">
<input type="search" id="query" name="query" value="{{query}}" maxlength="500" placeholder="Search name, tag, owner" aria-label="Search name, tag, owner">
% for name, value in hidden.items():
<input type="hidden" name="{{name}}" value="{{value}}">
% end
</form>
% for filter in filters:
<a href="?{{filter['link']}}">{{filter["label"]}} {{filter["count"]}}</a>
% end
% for label, links in menus:
<details class="menu">
<summary>{{label}} <span aria-hidden="true">▾</span></summary>
<div>
% for text, link in links:
<a href="?{{link}}"><bdi>{{text}}</bdi></a>
% end
</div>
</details>
% end
% if not is_archive:
<a href="?{{archive}}">Archived</a>
% end
</div>
% if active:
<p class="filters">
% for filter in active:
<a href="?{{filter['link']}}"><bdi>{{filter["label"]}}</bdi> <span aria-hidden="true">✕</span><span class="hidden">: remove this filter</span></a>
% end
<a href="?">Clear</a>
</p>
% end
% if is_removal:
<p class="hint">These flags have one answer for everyone, or nobody asks. Remove the check from the code, then archive the flag.</p>
% end
% if not features:
<p>No flag matches. <a href="?">Clear</a></p>
% end
% end
% if features:
% if can_edit:
<form method="post" action="{{url('/admin/features')}}" data-swap="flag-table">
% include("partials/csrf.tpl")
<input type="hidden" name="back" value="{{here}}">
% end
<div class="wide">
<table class="flags" id="flag-table">
<thead>
<tr>
% for head in heads:
% if head.get("link"):
<th scope="col" {{"aria-sort=" + head["order"] if head["order"] else ""}}><a href="?{{head['link']}}" aria-label="Sort by {{head['label']}}">{{head["label"]}}</a></th>
% elif head["label"]:
<th scope="col">{{head["label"]}}</th>
% else:
<td></td>
% end
% end
</tr>
</thead>
<tbody>
% for feature in features:
% include("flags/features/row.tpl", feature=feature)
% end
</tbody>
</table>
</div>
% if can_edit:
% include("flags/features/bulk.tpl")
</form>
% end
% end
% if place:
<nav class="pager" aria-label="Pages">
<span class="muted">{{place}}</span>
% if previous:
<a href="?{{previous}}" rel="prev">Previous</a>
% end
% if next:
<a href="?{{next}}" rel="next">Next</a>
% end
</nav>
% end
