% if row["can_edit"]:
<form method="post" action="{{url('/admin/alert-rules', row['id'], 'off' if row['enabled'] else 'on')}}">
% include("partials/csrf.tpl")
<button role="switch" aria-checked="{{'true' if row['enabled'] else 'false'}}" aria-label="Alert rule {{row['name']}}">{{"on" if row["enabled"] else "off"}}</button>
</form>
% else:
{{"on" if row["enabled"] else "off"}}
% end
