<form method="post" action="{{url('/admin/environments', row['name'], 'off' if row['enabled'] else 'on')}}">
% include("partials/csrf.tpl")
<button role="switch" aria-checked="{{'true' if row['enabled'] else 'false'}}" aria-label="Environment {{row['name']}}">{{"Enabled" if row["enabled"] else "Disabled"}}</button>
</form>
