% rebase("layout.tpl", title=title, live=False)
<h1>{{title}}</h1>
<p class="hint">A release raises the percentage of a flag in steps. Which flag, and where?</p>
% include("partials/problems.tpl")
<form method="get">
% include("partials/form_fields.tpl")
% include("partials/datalist.tpl", id="flags", choices=names)
<p class="actions">
<button>Next</button>
<a href="{{url('/admin/releases')}}">Cancel</a>
</p>
</form>
