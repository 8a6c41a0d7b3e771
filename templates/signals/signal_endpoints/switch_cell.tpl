<form method="post" action="{{url('/admin/signals', row['id'], 'off' if row['enabled'] else 'on')}}">
% include("partials/csrf.tpl")
<button role="switch" aria-checked="{{'true' if row['enabled'] else 'false'}}" aria-label="Endpoint {{row['name']}}">{{"on" if row["enabled"] else "off"}}</button>
</form>
