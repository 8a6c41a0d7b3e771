% if row["grace_ends_at"]:
<form method="post" action="{{url('/admin/signals', row['signal_endpoint_id'], 'tokens', row['id'], 'previous-secret', 'delete')}}">
% include("partials/csrf.tpl")
The previous secret ends
% include("partials/time.tpl", at=row["grace_ends_at"])
<button class="quiet">End grace period<span class="hidden"> of {{row["name"]}}</span></button>
</form>
% end
