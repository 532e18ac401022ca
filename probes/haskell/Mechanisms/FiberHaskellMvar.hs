{-# LANGUAGE BangPatterns #-}

-- fiber/haskell-mvar: threads of GHC hand a token round, each through the MVar of the next. The main thread is none of
-- them, and wakes context 0 for each batch: GHC walks the stack of a thread that waits, and the kit's frames would add
-- to each switch.
--
-- The token counts every switch. A context is due a number that advances by one lap per turn, and so is its count of
-- turns. Everything else is a command (a negative token) and takes the path of a wrong token: the measured loop pays
-- one comparison for all of it.
module Mechanisms.FiberHaskellMvar (mechanism) where

import Control.Concurrent
import Control.Monad (forM_, forever, replicateM, replicateM_)
import Data.IORef
import Data.List (sort)
import Data.Set (fromList)
import Kit.Machine (check, cpu)
import Kit.Plan
import Kit.Wire

data Ring = Ring
  { size :: Int
  , -- The token, which is the number of the next switch, and what context 0 is due.
    current, first :: IORef Int
  , broken :: IORef Bool
  , counted :: IORef [(ThreadId, Int)]
  , -- Of the verification pass: number of the switch, context and CPU.
    seen :: IORef [(Int, Int, Int)]
  }

resetting, publishing, verifying :: Int
resetting = -1
publishing = -2
-- And below: the verification pass, verifying - number of the switch.
verifying = -1000

-- What a context hands on that got no token, and what it is due next.
obey :: Ring -> Int -> Int -> Int -> IO (Int, Int)
obey ring index due token
  | token == resetting = pure (token, index)
  | token == publishing = do
      here <- cpu
      me <- myThreadId
      modifyIORef' (counted ring) ((me, (due - index) `div` size ring) :)
      writeIORef (seen ring) [(0, index, here)]
      pure (token, due)
  | token <= verifying = do
      here <- cpu
      modifyIORef' (seen ring) ((verifying - token, index, here) :)
      pure (token - 1, due)
  | otherwise = writeIORef (broken ring) True >> pure (token, due)

-- So many turns of a context that has a token; without end if that is below 0.
turns :: Ring -> Int -> MVar Int -> MVar Int -> Int -> Int -> Int -> IO ()
turns ring index mine following = go
 where
  !lapSize = size ring
  go :: Int -> Int -> Int -> IO ()
  go 0 !due !token = writeIORef (first ring) due >> writeIORef (current ring) token
  go left due token
    | token == due = do
        putMVar following $! token + 1
        takeMVar mine >>= go (left - 1) (due + lapSize)
    | otherwise = do
        (next, later) <- obey ring index due token
        putMVar following $! next
        takeMVar mine >>= go (left - 1) later

switching :: Int -> IO Workload
switching count = do
  -- A thread has a stack of 1 KB, and collections copy it.
  check (4000 * count)
  ring <- Ring count <$> newIORef 0 <*> newIORef 0 <*> newIORef False <*> newIORef [] <*> newIORef []
  boxes <- replicateM count newEmptyMVar
  forM_ (zip3 [1 ..] (drop 1 boxes) (drop 2 boxes ++ boxes)) $ \(i, mine, following) ->
    forkIO (takeMVar mine >>= turns ring i mine following (-1) i)
  begun <- newEmptyMVar
  ended <- newEmptyMVar
  _ <- forkIO . forever $ do
    (laps, token) <- takeMVar begun
    due <- readIORef (first ring)
    turns ring 0 (head boxes) (boxes !! 1) laps due token
    putMVar ended ()
  let pass laps token = putMVar begun (laps, token) >> takeMVar ended
      batch units = readIORef (current ring) >>= pass (units `div` count)
      begin = pass 1 resetting >> writeIORef (current ring) 0
  pure (Workload count batch begin (claims ring pass) (Just (hops ring pass)))

claims :: Ring -> (Int -> Int -> IO ()) -> [(String, Value)] -> IO (Maybe [(String, Value)])
claims ring pass counts = do
  token <- readIORef (current ring)
  pass 1 publishing
  due <- readIORef (first ring)
  wrong <- (|| due /= token) <$> readIORef (broken ring)
  (threads, numbers) <- unzip <$> readIORef (counted ring)
  let distinct = ("distinct_contexts", N (length (fromList threads)))
      turned = [("total", sum), ("min", minimum), ("max", maximum), ("contexts", length)]
      fields = [("turns", O [(key, N (of' numbers)) | (key, of') <- turned]), ("counts", O (distinct : counts))]
  pure (if wrong then Nothing else Just (fields ++ [("token", N token), ("address_spaces", N 1)]))

hops :: Ring -> (Int -> Int -> IO ()) -> Int -> IO [(String, Value)]
hops ring pass units = do
  pass (units `div` size ring) (verifying - 1)
  visits <- sort <$> readIORef (seen ring)
  let (_, who, places) = unzip3 visits
      inOrder = length (filter id (zipWith (\a b -> b == (a + 1) `mod` size ring) who (drop 1 who)))
      changes list = length (filter id (zipWith (/=) places list))
      same = N (units - changes (drop 1 places))
      fields = O [("count", N units), ("in_order", N inOrder), ("same_cpu", same), ("timed", B False)]
  pure [("hops", fields), ("migrations", N (changes (drop (size ring) places)))]

-- Make a thread, let it run to its end, go on.
creating :: Int -> IO Workload
creating _ = do
  entered <- newIORef (0 :: Int)
  let turned total = O [("total", N total), ("min", N 1), ("max", N 1), ("contexts", N total)]
      fields total = [("turns", turned total), ("token", N total), ("address_spaces", N 1)]
      claimed counts = Just . (("counts", O counts) :) . fields <$> readIORef entered
      create = forkIO (modifyIORef' entered (+ 1)) >> yield
  pure (Workload 1 (`replicateM_` create) (writeIORef entered 0) claimed Nothing)

mechanism :: Mechanism
mechanism = ("fiber/haskell-mvar", [("switch", switching), ("create", creating)])
