<fieldset id="options">
<legend>How</legend>
% include("partials/check.tpl", name="dryRun", label="Dry run: only record what would have been done", checked="dryRun" in values.ticked)
% include("partials/check.tpl", name="latch", label="Latch: run once, then wait until somebody arms it again", checked="latch" in values.ticked)
% include("partials/check.tpl", name="continueOnFailure", label="Go on after an action that failed", checked="continueOnFailure" in values.ticked)
<div class="fields">
% include("partials/field.tpl", name="cooldownSeconds", label="Rest after a run, in seconds", value=values.options.get("cooldownSeconds", ""), kind="number", min=0, max=604800, step=1, hint="Signals that match meanwhile are recorded as suppressed.")
% include("partials/field.tpl", name="maxRunsPerHour", label="Most runs in an hour", value=values.options.get("maxRunsPerHour", ""), kind="number", min=1, max=10000, step=1, hint="Empty: as many as there are.")
% include("partials/field.tpl", name="restoreAfterMinutes", label="Restore after minutes", value=values.options.get("restoreAfterMinutes", ""), kind="number", min=1, max=43200, step=1, hint="Puts back what the run changed, unless somebody cancels it. Empty: never.")
</div>
<fieldset id="resolved">
<legend>Restore when the alert is over</legend>
<p class="hint">Optional: a signal that says so puts back what the run of the same alert changed.</p>
<div class="fields">
% include("partials/field.tpl", name="resolved.path", label="Path that tells", value=values.options.get("resolved.path", ""), list="suggested", hint="Such as status.")
% include("partials/textarea.tpl", name="resolved.values", label="Values that mean over", value=values.options.get("resolved.values", ""), rows=2, hint="One on each line, such as resolved.")
% include("partials/field.tpl", name="resolved.key", label="Path of what ties both signals", value=values.options.get("resolved.key", ""), list="suggested", hint="Such as groupKey, fingerprint or alert_id.")
</div>
</fieldset>
</fieldset>
