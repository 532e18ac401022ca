-- The Haskell probe of switchcost; PROTOCOL.md says how it is spoken to.
module Main (main) where

import Control.Exception (try)
import Control.Monad (forM_)
import Kit.Batches (carryOut)
import Kit.Machine (hello)
import Kit.Plan
import Kit.Wire
import qualified Mechanisms.ControlHaskellMvar
import qualified Mechanisms.FiberHaskellMvar
import System.Environment (getArgs)

-- Sorted; a test checks it.
mechanisms :: [Mechanism]
mechanisms = [Mechanisms.ControlHaskellMvar.mechanism, Mechanisms.FiberHaskellMvar.mechanism]

answer :: Descriptor -> [String] -> IO Int
answer descriptor given@("run" : _) = parse given mechanisms >>= carryOut descriptor
answer descriptor given@("describe" : _) = do
  split given >>= (`checkRest` "`describe`; only report_fd is")
  forM_ mechanisms $ \(name, experiments) ->
    put descriptor "mechanism" $
      [("id", T name), ("experiments", L (map (T . fst) experiments)), ("timings", L [T "batch"])]
        ++ [("parameters", L []), ("available", B True)]
  pure 0
answer _ _ = stop "refused" "bad_value" "the first word must be `describe` or `run`"

main :: IO ()
main = do
  given <- getArgs
  let descriptor = reportFd given
  hello "haskell" "1" >>= put descriptor "hello"
  end <- try (answer descriptor given)
  case end of
    Right count -> put descriptor "end" [("status", T "ok"), ("samples", N count)]
    Left (Stop status code detail) ->
      put descriptor "end" $
        [("status", T status), ("code", T code), ("detail", T detail), ("errno", Null), ("samples", N 0)]
  -- At once, whatever other threads wait for.
  exitAtOnce (case end of Left (Stop status _ _) | status /= "unsupported" -> 1; _ -> 0)
