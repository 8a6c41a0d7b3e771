% for field in fields:
% if not field.is_more:
% include("partials/form_field.tpl", field=field)
% end
% end
% folded = list_folded(fields)
% if folded:
<details {{"open" if problems else ""}}>
<summary>More</summary>
% for field in folded:
% include("partials/form_field.tpl", field=field)
% end
</details>
% end
