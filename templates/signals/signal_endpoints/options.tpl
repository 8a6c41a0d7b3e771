<details id="options" class="options" {{"open" if are_options_open else ""}}>
<summary>Options: rate limit, repeated deliveries, summary, credentials</summary>
% for group in option_groups:
<fieldset>
<legend>{{group.legend}}</legend>
% include("partials/form_fields.tpl", fields=group.fields)
</fieldset>
% end
</details>
