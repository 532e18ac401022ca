  ;; Resumes all continuations in turn, so many laps: the measured loop, here and in bench/plain.rs.
  (func (export "pass") (param $token i64) (param $laps i64) (result i64)
    (local $place i32) (local $next (ref null $continuation))
    (loop $lap
      (local.set $place (i32.const 0))
      (loop $member
        (block $back (result i64 (ref $continuation))
          (resume $continuation (on $handed $back) (local.get $token) (table.get $all (local.get $place)))
          (unreachable))
        (local.set $next)
        (local.set $token)
        (table.set $all (local.get $place) (local.get $next))
        (local.set $place (i32.add (local.get $place) (i32.const 1)))
        (br_if $member (i32.lt_u (local.get $place) (table.size $all))))
      (local.set $laps (i64.sub (local.get $laps) (i64.const 1)))
      (br_if $lap (i64.gt_s (local.get $laps) (i64.const 0))))
    (local.get $token))
