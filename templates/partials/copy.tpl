<span class="copy">
<input id="{{id}}" type="text" readonly value="{{value}}" aria-label="{{label}}" size="{{len(value)}}">
<button type="button" class="quiet" data-copy="{{id}}" aria-label="Copy {{label}}" hidden>Copy</button>
</span>
