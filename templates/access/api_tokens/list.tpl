% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>API tokens</h1>
<a class="button" href="{{url('/admin/api-tokens/new')}}">New API token</a>
</div>
<p class="hint">Used by SDKs and scripts. Deleting a token revokes access immediately.</p>
% if not table.rows:
<p class="empty">No API tokens yet. Create one to connect an SDK.</p>
% else:
% include("partials/table.tpl")
% end
