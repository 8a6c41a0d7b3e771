<div class="field">
<label for="{{field.element_id}}">{{field.label}}</label>
<span class="copy">
<input id="{{field.element_id}}" type="text" readonly value="{{field.value}}" aria-label="{{field.label}}" size="{{len(field.value)}}">
<button type="button" class="quiet needs-script" data-copy="{{field.element_id}}" aria-label="Copy {{field.label}}">Copy</button>
</span>
</div>
