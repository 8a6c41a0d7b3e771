% if recipients:
<fieldset id="tell">
<legend>Tell</legend>
<p class="hint"><a href="{{url('/admin/integrations')}}">Integrations</a> with a name, with their own address and secret.</p>
% for recipient in recipients:
<fieldset>
<legend><bdi>{{recipient.name}}</bdi> <span class="badge">{{recipient.provider}}</span>
% if not recipient.is_enabled:
<span class="badge">off</span>
% end
</legend>
<input type="hidden" name="{{recipient.at}}.name" value="{{recipient.name}}">
% include("partials/form_fields.tpl", fields=recipient.fields)
</fieldset>
% end
</fieldset>
% end
