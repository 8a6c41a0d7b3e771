<svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">{{!icons[name]}}</svg>
