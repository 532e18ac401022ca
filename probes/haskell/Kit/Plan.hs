-- One `run` or `describe`, as asked. The host sends every key and stays within limits: only typing errors are refused.
module Kit.Plan (Workload (..), Mechanism, Asked (..), reportFd, split, checkRest, parse) where

import Control.Monad (foldM, forM, unless, when)
import Data.Char (isAsciiLower, isAsciiUpper, isDigit)
import Data.IORef (atomicModifyIORef', newIORef, readIORef)
import Data.List (stripPrefix)
import Kit.Wire

-- What is done in batches. `run` is the measured region. `reset` sets counts to zero. `claim` adds what was counted
-- since to counts, or is nothing if a context got a token that was not its. `verify` passes the token so often; only a
-- ring has it.
data Workload = Workload
  { lap :: Int
  , run :: Int -> IO ()
  , reset :: IO ()
  , claim :: [(String, Value)] -> IO (Maybe [(String, Value)])
  , verify :: Maybe (Int -> IO [(String, Value)])
  }

-- Its id, and what makes the workload of each experiment of so many contexts.
type Mechanism = (String, [(String, Int -> IO Workload)])

data Asked = Asked
  { workload :: Int -> IO Workload
  , contexts, batchUnits, batches, warmup, batchNs, verifyUnits :: Int
  , cpus :: [Int]
  , echo :: [(String, Value)]
  }

refuse :: String -> String -> IO a
refuse = stop "refused"

number :: (String, String) -> IO Int
number (key, text)
  | all isDigit text && length text `elem` [1 .. 19] && value < 2 ^ (63 :: Int) = pure (fromInteger value)
  | otherwise = refuse "bad_value" ("`" ++ key ++ "=" ++ text ++ "` must be an integer")
 where
  value = read text :: Integer

-- Looked for before anything else is judged, so that even a refusal reaches the host.
reportFd :: [String] -> Descriptor
reportFd given = head ([read text | Just text@(_ : _) <- map (stripPrefix "report_fd=") given, all isDigit text] ++ [1])

-- Key to value, but for report_fd.
split :: [String] -> IO [(String, String)]
split given = filter ((/= "report_fd") . fst) <$> foldM add [] (drop 1 given)
 where
  add values word = case break (== '=') word of
    (key@(_ : _), '=' : value) -> do
      unless (all allowed value) $ refuse "bad_value" ("`" ++ key ++ "` has a character that no value has")
      when (key `elem` map fst values) $ refuse "bad_value" ("`" ++ key ++ "` is given twice; give it once")
      pure ((key, value) : values)
    _ -> refuse "unknown_key" "an argument is not of the form key=value"
  allowed c = isAsciiLower c || isAsciiUpper c || isDigit c || c `elem` "._,/+-"

-- To be called when all that is known was taken.
checkRest :: [(String, String)] -> String -> IO ()
checkRest [] _ = pure ()
checkRest ((key, _) : _) what = refuse "unknown_key" ("`" ++ key ++ "` is not a key of " ++ what)

parse :: [String] -> [Mechanism] -> IO Asked
parse given mechanisms = do
  left <- split given >>= newIORef
  let take1 key = do
        found <- atomicModifyIORef' left (\values -> (filter ((/= key) . fst) values, lookup key values))
        maybe (refuse "bad_value" ("`" ++ key ++ "` is missing; a plan has every key and parameter")) pure found
      among known key = do
        text <- take1 key
        let unknown = refuse "bad_value" ("`" ++ key ++ "=" ++ text ++ "` is not among what it has")
        maybe unknown (\value -> pure (text, value)) (lookup text known)
      numeric key = take1 key >>= \text -> number (key, text)
  name <- take1 "mechanism"
  experiments <- maybe (refuse "unknown_mechanism" ("it has no `" ++ name ++ "`")) pure (lookup name mechanisms)
  _ <- among [("1", ())] "protocol"
  (experiment, made) <- among experiments "experiment"
  (timing, _) <- among [("batch", ())] "timing"
  numbers <- mapM numeric ["contexts", "batch_units", "batches", "warmup_batches", "batch_ns", "verify_units", "seed"]
  list <- take1 "cpus"
  -- Each on a line of its own, the last one as well.
  let separate = lines . (++ "\n") . map (\c -> if c == ',' then '\n' else c)
  places <- forM (if null list then [] else separate list) (\text -> number ("cpus", text))
  readIORef left >>= (`checkRest` ("`run` or of " ++ name))
  case numbers of
    [ring, units, measured, unmeasured, ns, verified, _] ->
      pure . Asked made ring units measured unmeasured ns verified places $
        [("mechanism", T name), ("experiment", T experiment), ("timing", T timing), ("cpus", L (map N places))]
          ++ [("contexts", N ring), ("batches", N measured), ("warmup_batches", N unmeasured), ("parameters", O [])]
    _ -> refuse "bad_value" "a number is missing"
