# Before any file that an older Ruby cannot read. By 127 the host knows that a package may help.
if RUBY_VERSION.to_f < 3.1
  warn "needs Ruby 3.1 or newer, and this is #{RUBY_VERSION}; put a newer one first in PATH"
  exit! 127
end
