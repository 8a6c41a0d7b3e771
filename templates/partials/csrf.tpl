<input type="hidden" name="csrf" value="{{csrf}}">
