-- The kit, beside what `switchcost check-probe` asks of the whole probe.
module Main (main) where

import Control.Exception (try)
import Control.Monad (forM_, unless)
import Kit.Machine (now, rulers)
import Kit.Plan
import Kit.Wire
import qualified Mechanisms.FiberHaskellMvar

equal :: (Eq a, Show a) => String -> a -> a -> IO ()
equal what got wanted = unless (got == wanted) $ error (what ++ ": " ++ show got ++ ", and not " ++ show wanted)

-- Every number of some fields, by its name.
numbers :: [(String, Value)] -> [(String, Int)]
numbers fields = [(key, it) | (key, N it) <- fields] ++ concat [numbers inner | (_, O inner) <- fields]

-- A ring of three, after some laps and a reset.
ring :: IO Workload
ring = do
  made <- maybe (error "no switch") ($ 3) (lookup "switch" (snd Mechanisms.FiberHaskellMvar.mechanism))
  run made 6
  reset made
  pure made

everyContextCounts :: IO ()
everyContextCounts = do
  made <- ring
  run made 9
  fields <- maybe (error "broken") numbers <$> claim made []
  let wanted = [("total", 9), ("min", 3), ("max", 3), ("contexts", 3), ("token", 9), ("distinct_contexts", 3)]
  equal "counts" [(key, lookup key fields) | (key, _) <- wanted] [(key, Just it) | (key, it) <- wanted]

hopsAreInOrder :: IO ()
hopsAreInOrder = do
  made <- ring
  _ <- claim made []
  fields <- maybe (error "no ring") ($ 6) (verify made)
  equal "hops" (map (`lookup` numbers fields) ["count", "in_order"]) [Just 6, Just 6]

typingErrorsAreRefused :: IO ()
typingErrorsAreRefused = forM_ [("a", "unknown_key"), ("=1", "unknown_key"), ("a=%", "bad_value")] $ \(word, code) -> do
  said <- try (split ["run", word])
  equal word (either (\(Stop status why _) -> (status, why)) (const ("taken", "")) said) ("refused", code)

theClockGoesOn :: IO ()
theClockGoesOn = do
  begin <- now
  both <- rulers
  end <- now
  equal "the clock" (all (> 0) both && end - begin >= sum both) True

main :: IO ()
main = do
  let note = [("text", T "a\"\\\n\233"), ("none", Null), ("list", L [N 1, N (-2)]), ("map", O []), ("true", B True)]
  put 1 "note" note
  putSamples 1 "measure" 1 0 (replicate 2500 [minBound, minBound, minBound])
  everyContextCounts >> putStrLn "ok every context counts its turns"
  hopsAreInOrder >> putStrLn "ok hops are in order"
  typingErrorsAreRefused >> putStrLn "ok typing errors are refused"
  theClockGoesOn >> putStrLn "ok the clock goes on"
