<div class="bulk {{"open" if problems else ""}}">
<strong data-selected>Selected:</strong>
% if is_archive:
<button class="quiet" name="change" value="revive" data-swap="">Revive</button>
% else:
% for state in ("on", "off"):
<details class="menu">
<summary>Turn {{state}} in <span aria-hidden="true">▾</span></summary>
<div>
% for name in environments:
<button name="change" value="{{state}}:{{name}}" data-swap="" aria-label="Turn {{state}} in {{name}}">{{name}}</button>
% end
</div>
</details>
% end
<span class="inline">
<label class="hidden" for="bulk-tag">Tag</label>
% include("partials/control.tpl", field=tag_field)
% if tag_field.find_errors(problems):
<span class="wrong" id="bulk-tag-problem">{{tag_field.find_errors(problems)}}</span>
% end
<button class="quiet" name="change" value="tag" data-swap="">Tag</button>
</span>
<button class="quiet" name="change" value="permanent" data-swap="">Mark permanent</button>
<button class="quiet" name="change" value="archive" data-swap="">Archive …</button>
% end
</div>
