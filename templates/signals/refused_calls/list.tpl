% rebase("layout.tpl", title=title, live=False)
% include("signals/signal_endpoints/heading.tpl")
<p class="hint">{{hint}}</p>
% include("partials/table.tpl")
